package team

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Content travels as objects, in a bucket of the machine that wrote it, in the
// form that any NATS client can read: chunks, and behind them a message that says
// what they are. The library writes that message so that it takes the place of the
// one before. Streams that allow this let any machine delete what others have, so
// both are written here, and what is replaced is purged.

const (
	chunkSize   = 128 << 10
	chunksAhead = 32 // that wait for the hub's word
)

func chunksOf(bucket, nuid string) string { return "$O." + bucket + ".C." + nuid }

func metaOf(bucket, name string) string {
	return "$O." + bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// putObject writes an object of this machine; fill writes its content, which is
// compressed by whoever wants it and encrypted here.
func (h *Hub) putObject(ctx context.Context, name string, fill func(io.Writer) error) error {
	old, _, err := h.object(ctx, h.set.Machine, name)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() {
		sealed, err := h.set.seal(w)
		if err == nil {
			if err = fill(sealed); err == nil {
				err = sealed.Close()
			}
		}
		w.CloseWithError(err)
	}()
	defer r.Close() // ends the writer where the hub refuses
	bucket := objectBucket(h.set.Machine)
	info := jetstream.ObjectInfo{ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}}, Bucket: bucket, NUID: rand.Text()}
	seq, err := h.upload(ctx, info, r)
	if err != nil {
		_ = h.purge(context.WithoutCancel(ctx), chunksOf(bucket, info.NUID), 0)
		return fmt.Errorf("write object %s: %w", name, err)
	}
	err = h.purge(ctx, metaOf(bucket, name), seq)
	if old.NUID != "" {
		err = errors.Join(err, h.purge(ctx, chunksOf(bucket, old.NUID), 0))
	}
	return err
}

// upload publishes the chunks of an object and then what they are, and returns the
// place of that.
func (h *Hub) upload(ctx context.Context, info jetstream.ObjectInfo, r io.Reader) (uint64, error) {
	var ahead []jetstream.PubAckFuture
	heard := func(left int) error {
		for len(ahead) > left {
			select {
			case <-ahead[0].Ok():
				ahead = ahead[1:]
			case err := <-ahead[0].Err():
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	sum := sha256.New()
	for more := true; more; {
		chunk := make([]byte, chunkSize)
		n, err := io.ReadFull(r, chunk)
		more = err == nil
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		if n == 0 {
			break
		}
		sum.Write(chunk[:n])
		info.Size, info.Chunks = info.Size+uint64(n), info.Chunks+1
		ack, err := h.js.PublishMsgAsync(&nats.Msg{Subject: chunksOf(info.Bucket, info.NUID), Data: chunk[:n]})
		if err != nil {
			return 0, err
		}
		ahead = append(ahead, ack)
		if err := heard(chunksAhead); err != nil {
			return 0, err
		}
	}
	if err := heard(0); err != nil {
		return 0, err
	}
	info.Digest = digestName(sum)
	wait, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	ack, err := h.js.Publish(wait, metaOf(info.Bucket, info.Name), store.EncodeJSON(info))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

func digestName(sum hash.Hash) string {
	return "SHA-256=" + base64.URLEncoding.EncodeToString(sum.Sum(nil))
}

// purge removes what this machine's bucket has on a subject, before a place in the
// stream or, for 0, all of it.
func (h *Hub) purge(ctx context.Context, subject string, before uint64) error {
	var resp struct {
		Error *jetstream.APIError `json:"error"`
	}
	req := struct {
		Filter string `json:"filter"`
		Seq    uint64 `json:"seq,omitempty"`
	}{subject, before}
	if err := h.api(ctx, "STREAM.PURGE.OBJ_"+objectBucket(h.set.Machine), req, &resp); err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("purge %s: %w", subject, resp.Error)
	}
	return nil
}

// dropObject takes an object of this machine back.
func (h *Hub) dropObject(ctx context.Context, name string) error {
	bucket := objectBucket(h.set.Machine)
	info, ok, err := h.object(ctx, h.set.Machine, name)
	if err == nil {
		err = h.purge(ctx, metaOf(bucket, name), 0)
	}
	if err == nil && ok {
		err = h.purge(ctx, chunksOf(bucket, info.NUID), 0)
	}
	return err
}

// objectInfo is what a bucket says of an object.
type objectInfo struct {
	Machine string    `json:"-"`
	Name    string    `json:"name"`
	NUID    string    `json:"nuid"`
	Size    int64     `json:"size"`
	Digest  string    `json:"digest"`
	Deleted bool      `json:"deleted"`
	At      time.Time `json:"-"`

	seq uint64 // what is behind it is none of its chunks
}

// object looks for an object of a machine; false where there is none.
func (h *Hub) object(ctx context.Context, machine, name string) (info objectInfo, ok bool, err error) {
	bucket := objectBucket(machine)
	_, err = h.newest(ctx, "OBJ_"+bucket, metaOf(bucket, name), func(m stored) bool {
		v, ok := parseObject(machine, m)
		if ok {
			info = v
		}
		return ok
	})
	return info, info.NUID != "" && !info.Deleted, err
}

func parseObject(machine string, m stored) (objectInfo, bool) {
	info := objectInfo{Machine: machine, At: m.Time, seq: m.Seq}
	if m.relayed() || m.marker() || json.Unmarshal(m.Data, &info) != nil || info.NUID == "" || strings.ContainsAny(info.NUID, ".*> ") {
		return objectInfo{}, false
	}
	return info, true
}

func (h *Hub) objects(ctx context.Context, machine string) ([]objectInfo, error) {
	bucket, found := objectBucket(machine), map[string]objectInfo{}
	_, err := h.each(ctx, "OBJ_"+bucket, "$O."+bucket+".M.>", 1, time.Time{}, func(m stored) error {
		if info, ok := parseObject(machine, m); ok {
			found[info.Name] = info
		}
		return nil
	})
	maps.DeleteFunc(found, func(_ string, info objectInfo) bool { return info.Deleted })
	return slices.Collect(maps.Values(found)), err
}

// readObject hands the decrypted content of an object to read. What read was
// given counts only when no error comes back: then it was whole, and by somebody
// who could encrypt for the team.
func (h *Hub) readObject(ctx context.Context, info objectInfo, read func(io.Reader) error) error {
	bucket := objectBucket(info.Machine)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		plain, err := h.set.unseal(r)
		if err == nil {
			if err = read(plain); err == nil {
				_, err = io.Copy(io.Discard, plain) // the last bytes carry the proof
			}
		}
		r.CloseWithError(err)
		done <- err
	}()
	sum, size := sha256.New(), int64(0)
	_, err := h.each(ctx, "OBJ_"+bucket, chunksOf(bucket, info.NUID), 1, time.Time{}, func(m stored) error {
		if m.Seq > info.seq {
			return nil
		}
		size += int64(len(m.Data))
		sum.Write(m.Data)
		_, err := w.Write(m.Data)
		return err
	})
	if err == nil && size != info.Size {
		err = fmt.Errorf("%d of %d bytes", size, info.Size)
	}
	if err == nil && digestName(sum) != info.Digest {
		err = fmt.Errorf("another digest than %s", info.Digest)
	}
	w.CloseWithError(err)
	if rerr := <-done; err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("read object %s of %s: %w", info.Name, info.Machine, err)
	}
	return nil
}
