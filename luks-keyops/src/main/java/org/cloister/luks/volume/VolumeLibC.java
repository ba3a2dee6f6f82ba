package org.cloister.luks.volume;

import jnr.ffi.Pointer;
import jnr.ffi.types.int64_t;
import jnr.ffi.types.u_int64_t;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the C library that this package calls, named as in its headers. Public only because jnr-ffi
 * implements it from another class loader.
 */
public interface VolumeLibC {
    int O_RDWR = 2;
    int O_EXCL = 0x80;
    int O_CLOEXEC = 0x80000;
    int RTLD_NOW = 2;

    int open(CharSequence path, int flags);

    int close(int fd);

    int ioctl(int fd, @u_int64_t long request, Pointer argument);

    /** Returns an errno, not -1. */
    int posix_fallocate(int fd, @int64_t long offset, @int64_t long length);

    int setenv(CharSequence name, CharSequence value, int overwrite);

    @Nullable
    Pointer dlopen(CharSequence file, int mode);

    @Nullable
    Pointer dlsym(Pointer handle, CharSequence name);

    @Nullable
    String dlerror();

    /** Returns a name such as {@code EBUSY}; since glibc 2.32. */
    @Nullable
    String strerrorname_np(int errno);
}
