# Packs a folder as NAME.tar.gz, or NAME.zip for Windows, with nothing of this machine in
# it: no owner, one time for all files, sorted by name. tar and gzip differ between
# systems, and zip is not everywhere.
#
#   python3 release/pack.py NAME FOLDER SECONDS
import gzip, os, sys, tarfile, time, zipfile

name, folder, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
paths = sorted(os.path.relpath(os.path.join(d, f), folder).replace(os.sep, "/") for d, _, files in os.walk(folder) for f in files)


def mode(path):
    return 0o755 if os.access(os.path.join(folder, path), os.X_OK) else 0o644


if "_windows_" in os.path.basename(name):
    with zipfile.ZipFile(name + ".zip", "w", zipfile.ZIP_DEFLATED) as out:
        for path in paths:
            info = zipfile.ZipInfo(path, time.gmtime(seconds)[:6])
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, mode(path) << 16
            with open(os.path.join(folder, path), "rb") as file:
                out.writestr(info, file.read())
else:
    with open(name + ".tar.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, seconds) as zipped, tarfile.open(None, "w", zipped, format=tarfile.GNU_FORMAT) as out:
        for path in paths:
            info = tarfile.TarInfo(path)
            info.size, info.mtime, info.mode = os.path.getsize(os.path.join(folder, path)), seconds, mode(path)
            with open(os.path.join(folder, path), "rb") as file:
                out.addfile(info, file)
