"""Getting models onto this machine, and keeping them: catalog, downloads, verification, removal. No Textual.

    CATALOG                         the published checkpoints, pinned               catalog.py
    available(paths)                what can be fetched, with what is there already library.py
    Downloads(paths)                asyncio side of the download processes          downloads.py
    installed_models(paths, folders) everything that can be loaded, from everywhere  edge0_tui/installed.py
    verify(path, paths, ...)        hash every file, remember the verdict           verify.py
    details(path, paths)            what the files say                              details.py
    removal(path, paths), remove()  what deleting frees; delete                     remove.py
    hold(path), in_use(path)        a loaded model is not deleted                   use.py
    skeleton(repo)                  a remote checkpoint's headers as a directory    skeleton.py

A directory counts as *verified* only when its record says that every file has had the expected hash, and no size or
time of change differs since. Everything else is *found*, *unfinished* or *damaged*.
"""
