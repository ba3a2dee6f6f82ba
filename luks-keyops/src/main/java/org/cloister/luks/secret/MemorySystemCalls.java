package org.cloister.luks.secret;

import jnr.ffi.LastError;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/** Checked calls of the loaded C library; repeats a call that a signal interrupted. */
final class MemorySystemCalls {
    private static final int EINTR = 4;

    private final MemoryLibC libc;
    private final Runtime runtime;

    private MemorySystemCalls(MemoryLibC libc) {
        this.libc = libc;
        this.runtime = Runtime.getRuntime(libc);
    }

    static MemorySystemCalls load() throws SecretException {
        try {
            // Without failImmediately() a missing library shows at the first call, not at start.
            return new MemorySystemCalls(
                    LibraryLoader.create(MemoryLibC.class).failImmediately().load("c"));
        } catch (UnsatisfiedLinkError e) {
            throw new SecretException(
                    "secret memory",
                    "libc",
                    0,
                    String.valueOf(e.getMessage()),
                    "Linux with glibc 2.25 or newer is needed");
        }
    }

    MemoryLibC libc() {
        return libc;
    }

    Pointer pointer(long address, long length) {
        return Pointer.wrap(runtime, address, length);
    }

    int errno() {
        return LastError.getLastError(runtime);
    }

    SecretException failed(String operation, String call, String remedy) {
        int errno = errno();
        return new SecretException(operation, call, errno, libc.strerror(errno), remedy);
    }

    void check(long result, String operation, String call, String remedy) throws SecretException {
        if (result == -1) {
            throw failed(operation, call, remedy);
        }
    }

    /** Fills memory from the kernel's random generator, which blocks until it has been seeded. */
    void fillRandom(Pointer memory, int length) throws SecretException {
        for (int done = 0; done < length; ) {
            long n = libc.getrandom(memory.slice(done), length - done, 0);
            if (n > 0) {
                done += (int) n;
            } else if (errno() != EINTR) {
                throw failed("random secret", "getrandom", "Linux 3.17 or newer is needed");
            }
        }
    }

    /** Reads until {@code length} bytes or the end; returns the number of bytes read. */
    int read(int fd, Pointer memory, int length) throws SecretException {
        int done = 0;
        while (done < length) {
            long n = libc.read(fd, memory.slice(done), length - done);
            if (n == 0) {
                break;
            } else if (n > 0) {
                done += (int) n;
            } else if (errno() != EINTR) {
                throw failed("secret from descriptor " + fd, "read", "see what the descriptor is");
            }
        }
        return done;
    }

    void write(int fd, Pointer memory, int length) throws SecretException {
        for (int done = 0; done < length; ) {
            long n = libc.write(fd, memory.slice(done), length - done);
            if (n > 0) {
                done += (int) n;
            } else if (errno() != EINTR) {
                throw failed("secret to descriptor " + fd, "write", "see what the descriptor is, and its free space");
            }
        }
    }
}
