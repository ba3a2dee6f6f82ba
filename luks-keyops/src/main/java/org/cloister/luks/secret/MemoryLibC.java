package org.cloister.luks.secret;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.In;
import jnr.ffi.types.intptr_t;
import jnr.ffi.types.off_t;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.u_int64_t;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the C library that this package calls, named as in its headers; after -1 (or MAP_FAILED) errno has
 * the reason. Public only because jnr-ffi implements it from another class loader.
 */
public interface MemoryLibC {
    /**
     * Returns a number, because MAP_FAILED is all ones. The address is a pointer, because jnr-ffi 2.3.4 on x86_64
     * passes a wrong sixth argument if all six are primitive.
     */
    @intptr_t
    long mmap(@Nullable Pointer address, @size_t long length, int protection, int flags, int fd, @off_t long offset);

    int munmap(@intptr_t long address, @size_t long length);

    int madvise(@intptr_t long address, @size_t long length, int advice);

    int mlock(@intptr_t long address, @size_t long length);

    int ftruncate(int fd, @off_t long length);

    /** Used for {@code memfd_secret} only, for which glibc has no wrapper. */
    @intptr_t
    long syscall(@intptr_t long number, @intptr_t long flags);

    @ssize_t
    long getrandom(Pointer buffer, @size_t long length, int flags);

    void explicit_bzero(Pointer memory, @size_t long length);

    Pointer memcpy(Pointer to, Pointer from, @size_t long length);

    int open(CharSequence path, int flags, int mode);

    @ssize_t
    long read(int fd, Pointer buffer, @size_t long length);

    @ssize_t
    long write(int fd, Pointer buffer, @size_t long length);

    int close(int fd);

    int getpagesize();

    int prctl(int option, @u_int64_t long two, @u_int64_t long three, @u_int64_t long four, @u_int64_t long five);

    int setrlimit(int resource, @In long[] softAndHard);

    String strerror(int errno);
}
