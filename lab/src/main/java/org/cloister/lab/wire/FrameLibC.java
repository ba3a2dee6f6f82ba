package org.cloister.lab.wire;

import jnr.ffi.LibraryLoader;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;

/**
 * The functions of the C library that {@link FrameSocket} calls. Public only because jnr-ffi implements it from another
 * class loader.
 */
public interface FrameLibC {
    FrameLibC LIB = LibraryLoader.create(FrameLibC.class).failImmediately().load("c");

    int open(CharSequence path, int flags);

    int setns(int fd, int type);

    int socket(int domain, int type, int protocol);

    int if_nametoindex(CharSequence name);

    int bind(int fd, @In byte[] address, int length);

    int setsockopt(int fd, int level, int name, @In byte[] value, int length);

    int ioctl(int fd, long request, @In byte[] argument);

    @ssize_t
    long write(int fd, @In byte[] bytes, @size_t long length);

    @ssize_t
    long read(int fd, @Out byte[] bytes, @size_t long length);

    int close(int fd);
}
