"""Getting models onto this machine, and keeping them: catalog, downloads, verification, removal. No Textual.

    CATALOG, entry(name)            the published checkpoints, pinned                catalog.py
    available(paths)                what can be fetched, with what is there already  available.py
    Downloads(paths)                asyncio side of the download processes           downloads.py
    installed_models(paths)         everything that can be loaded, from everywhere   edge0_tui/installed.py
    verify(path, paths, ...)        hash every file, remember the verdict            verify.py, verdict.py
    details(path, paths)            what the files say                               details.py
    removal(path, paths), remove()  what deleting frees; delete                      remove.py
    hold(path), in_use(path)        a loaded model is not deleted                    use.py
    skeleton(RepoId)                a remote checkpoint's headers as a directory     skeleton.py

One download: `Downloads` → `download_process` → (its own process) `download` → `job` → one `transfer` a file, which
writes a `part` that a `follower` hashes; `meter` adds up; `record` remembers what was verified.

A directory counts as verified only when its record says that every file has had the expected hash, and no size or
time of change differs since. Everything else is found, unfinished or damaged.
"""
