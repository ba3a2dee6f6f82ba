package org.cloister.luks.secret;

import jnr.ffi.Pointer;

/**
 * Memory pages between two inaccessible guard pages. The bytes end where the upper guard page begins, so that an access
 * one byte too far ends the process instead of reading a neighbour. Constants are from mman.h and madvise(2).
 */
final class GuardedPages {
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MADV_DONTFORK = 10;
    private static final int MADV_DONTDUMP = 16;
    private static final int MADV_WIPEONFORK = 18;
    private static final long SYS_MEMFD_SECRET = 447;
    private static final long O_CLOEXEC = 0x80000;
    private static final String LIMIT =
            "raise the limit of locked memory (ulimit -l, LimitMEMLOCK=) or give CAP_IPC_LOCK";

    private final MemorySystemCalls system;
    private final long start;
    private final long total;
    private final Pointer bytes;

    private GuardedPages(MemorySystemCalls system, long start, long total, Pointer bytes) {
        this.system = system;
        this.start = start;
        this.total = total;
        this.bytes = bytes;
    }

    /** Method by which the pages are kept out of swap and out of other processes. */
    enum Kind {
        /** memfd_secret(2): in no other page table, not even the kernel's own; always locked. */
        SECRET_FILE,
        LOCKED,
        /** Can be swapped. Only if configured explicitly. */
        UNLOCKED
    }

    static GuardedPages map(MemorySystemCalls system, int length, Kind kind) throws SecretException {
        long page = system.libc().getpagesize();
        long inner = (length + page - 1) / page * page;
        long total = inner + 2 * page;
        long start = system.libc().mmap(null, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        system.check(start, "secret of " + length + " bytes", "mmap", "free memory is needed");
        long end = start + page + inner;
        GuardedPages pages = new GuardedPages(system, start, total, system.pointer(end - length, length));
        try {
            if (kind == Kind.SECRET_FILE) {
                pages.mapSecretFile(start + page, inner);
            } else {
                pages.mapAnonymous(start + page, inner, kind);
            }
            return pages;
        } catch (SecretException e) {
            pages.unmap();
            throw e;
        }
    }

    Pointer bytes() {
        return bytes;
    }

    void unmap() {
        if (system.libc().munmap(start, total) == -1) {
            throw new IllegalStateException("munmap of a secret's pages, errno " + system.errno());
        }
    }

    private void mapSecretFile(long address, long length) throws SecretException {
        String what = "secret of whole pages, " + length + " bytes";
        int fd = (int) system.libc().syscall(SYS_MEMFD_SECRET, O_CLOEXEC);
        system.check(fd, what, "memfd_secret", "Linux 5.14 with CONFIG_SECRETMEM is needed");
        try {
            system.check(system.libc().ftruncate(fd, length), what, "ftruncate", LIMIT);
            long mapped = system.libc()
                    .mmap(system.pointer(address, length), length, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
            system.check(mapped, what, "mmap", LIMIT);
        } finally {
            system.libc().close(fd);
        }
        advise(address, length, MADV_DONTDUMP, what);
        // WIPEONFORK is for private pages only. A child of fork does not get these at all.
        advise(address, length, MADV_DONTFORK, what);
    }

    private void mapAnonymous(long address, long length, Kind kind) throws SecretException {
        String what = "secret of whole pages, " + length + " bytes";
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
        system.check(
                system.libc().mmap(system.pointer(address, length), length, PROT_READ_WRITE, flags, -1, 0),
                what,
                "mmap",
                LIMIT);
        advise(address, length, MADV_DONTDUMP, what);
        advise(address, length, MADV_WIPEONFORK, what);
        if (kind == Kind.LOCKED) {
            system.check(system.libc().mlock(address, length), what, "mlock", LIMIT);
        }
    }

    private void advise(long address, long length, int advice, String what) throws SecretException {
        system.check(system.libc().madvise(address, length, advice), what, "madvise", "Linux 4.14 or newer is needed");
    }
}
