package team

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// NewIdentity makes a key for a team.
func NewIdentity() (identity, recipient string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return id.String(), id.Recipient().String(), nil
}

var errNoRecipients = errors.New("no recipients to encrypt for")

// seal returns a writer whose content only the team's recipients can read. It
// redacts nothing: whoever seals has redacted before.
func (s Settings) seal(w io.Writer) (io.WriteCloser, error) {
	if len(s.Recipients) == 0 {
		return nil, errNoRecipients
	}
	list, err := age.ParseRecipients(strings.NewReader(strings.Join(s.Recipients, "\n")))
	if err != nil {
		return nil, fmt.Errorf("recipients: %w", err)
	}
	return age.Encrypt(w, list...)
}

func (s Settings) unseal(r io.Reader) (io.Reader, error) {
	if s.Identity == "" {
		return nil, errors.New("this machine has no key of the team")
	}
	ids, err := age.ParseIdentities(strings.NewReader(s.Identity))
	if err != nil {
		return nil, fmt.Errorf("the team's key: %w", err)
	}
	return age.Decrypt(r, ids...)
}

func (s Settings) sealBytes(data []byte) ([]byte, error) {
	return sealed(data, s.seal)
}

// sealed is data through a writer that seals.
func sealed(data []byte, seal func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var b bytes.Buffer
	w, err := seal(&b)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func (s Settings) unsealBytes(data []byte, limit int64) ([]byte, error) {
	r, err := s.unseal(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, limit))
}
