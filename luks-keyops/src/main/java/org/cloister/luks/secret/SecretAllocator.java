package org.cloister.luks.secret;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Allocates secrets. A process creates one at its start, which fails when memory cannot be locked. */
public final class SecretAllocator {
    /** The longest secret, in bytes. A key has 32 to 64; a volume's key slot area is not stored as a secret. */
    public static final int MAX_LENGTH = 1 << 20;

    private static final int PR_SET_DUMPABLE = 4;
    private static final int RLIMIT_CORE = 4;
    private static final int O_RDONLY = 0;
    private static final int O_WRONLY = 1;
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_CLOEXEC = 0x80000;

    private final MemorySystemCalls system;
    private final GuardedPages.Kind kind;
    private final AtomicInteger open = new AtomicInteger();

    private SecretAllocator(MemorySystemCalls system, GuardedPages.Kind kind) {
        this.system = system;
        this.kind = kind;
    }

    /** Behaviour when the kernel does not let this process lock memory. */
    public enum Locking {
        /** The start fails. */
        REQUIRED,
        /**
         * The process continues with memory that can be swapped. For machines without swap whose limits cannot be
         * raised.
         */
        RUN_WITHOUT_LOCKED_MEMORY
    }

    /**
     * Prepares a daemon's process: disables core dumps, makes the process undumpable (so that only root has access to
     * /proc/PID/mem and ptrace), then continues as {@link #open} does.
     */
    public static SecretAllocator harden(Locking locking) throws SecretException {
        MemorySystemCalls system = MemorySystemCalls.load();
        String what = "hardening of the process";
        system.check(
                system.libc().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), what, "prctl", "PR_SET_DUMPABLE must be permitted");
        system.check(
                system.libc().setrlimit(RLIMIT_CORE, new long[] {0, 0}),
                what,
                "setrlimit",
                "RLIMIT_CORE must be permitted");
        return open(locking);
    }

    /**
     * Determines which protection of memory works here by allocating some.
     *
     * @throws SecretException when none works, and {@code locking} does not permit that
     */
    public static SecretAllocator open(Locking locking) throws SecretException {
        MemorySystemCalls system = MemorySystemCalls.load();
        List<GuardedPages.Kind> kinds =
                new ArrayList<>(List.of(GuardedPages.Kind.SECRET_FILE, GuardedPages.Kind.LOCKED));
        if (locking == Locking.RUN_WITHOUT_LOCKED_MEMORY) {
            kinds.add(GuardedPages.Kind.UNLOCKED);
        }
        SecretException failure = null;
        for (GuardedPages.Kind kind : kinds) {
            try {
                SecretAllocator secrets = new SecretAllocator(system, kind);
                secrets.random(1).close();
                return secrets;
            } catch (SecretException e) {
                failure = e;
            }
        }
        throw Objects.requireNonNull(failure);
    }

    /** Returns an allocator of one kind, for tests. */
    static SecretAllocator of(GuardedPages.Kind kind) throws SecretException {
        return new SecretAllocator(MemorySystemCalls.load(), kind);
    }

    /** Allocates {@code length} zero bytes. */
    public SecretMemory allocate(int length) throws SecretException {
        if (length < 1 || length > MAX_LENGTH) {
            throw new IllegalArgumentException("secret: want 1 to " + MAX_LENGTH + " bytes, have " + length);
        }
        GuardedPages pages = GuardedPages.map(system, length, kind);
        open.incrementAndGet();
        return new SecretMemory(system, pages, length, open::decrementAndGet);
    }

    /** Allocates {@code length} bytes from getrandom(2). */
    public SecretMemory random(int length) throws SecretException {
        return filled(length, secret -> {
            try (SecretMemory.Loan loan = secret.lend()) {
                system.fillRandom(loan.pointer(), length);
            }
        });
    }

    /** Copies {@code count} bytes of {@code secret} into a new secret. */
    public SecretMemory part(SecretMemory secret, int from, int count) throws SecretException {
        return filled(count, copy -> secret.copyTo(copy, from, 0, count));
    }

    /** Reads a descriptor to its end: at least one byte, at most {@code max}. The descriptor stays open. */
    public SecretMemory readAll(int fd, int max) throws SecretException {
        try (SecretMemory room = allocate(max + 1)) {
            int length;
            try (SecretMemory.Loan loan = room.lend()) {
                length = system.read(fd, loan.pointer(), max + 1);
            }
            if (length == 0 || length > max) {
                throw new SecretException(
                        "secret from descriptor " + fd,
                        "read",
                        0,
                        "want 1 to " + max + " bytes, have " + (length == 0 ? "none" : "more"),
                        "see what writes to it");
            }
            return part(room, 0, length);
        }
    }

    /** Reads a whole file: at least one byte, at most {@code max}. */
    public SecretMemory readFile(Path file, int max) throws SecretException {
        int fd = system.libc().open(file.toString(), O_RDONLY | O_CLOEXEC, 0);
        system.check(fd, "secret from " + file, "open", "see that the file exists and may be read");
        try {
            return readAll(fd, max);
        } finally {
            system.libc().close(fd);
        }
    }

    /** Reads a file as {@link #readFile} does and drops a line end at its end, as a person or a program writes it. */
    public SecretMemory readLine(Path file, int max) throws SecretException {
        try (SecretMemory read = readFile(file, max + 1)) {
            boolean ended;
            try (SecretMemory.Loan loan = read.lend()) {
                ended = loan.pointer().getByte(read.length() - 1) == '\n';
            }
            int length = ended ? read.length() - 1 : read.length();
            if (length < 1 || length > max) {
                throw new SecretException(
                        "secret from " + file,
                        "read",
                        0,
                        "want a line of 1 to " + max + " bytes, have " + length,
                        "see what writes to it");
            }
            return part(read, 0, length);
        }
    }

    /** Moves bytes from a terminal into a secret. Java already has them on its heap, where this method zeroes them. */
    public SecretMemory moveFrom(byte[] bytes) throws SecretException {
        try {
            return filled(bytes.length, secret -> {
                try (SecretMemory.Loan loan = secret.lend()) {
                    loan.pointer().put(0, bytes, 0, bytes.length);
                }
            });
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    /**
     * Writes a secret into a new file, such as one on tmpfs from which a daemon reads its key. The caller removes a
     * file that could not be written whole.
     *
     * @param mode of the file, such as 0400, less the process' umask
     * @throws SecretException also if a file or link of that name exists
     */
    public void writeNew(Path file, int mode, SecretMemory secret) throws SecretException {
        int fd = system.libc().open(file.toString(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        system.check(fd, "secret to " + file, "open", "see that its folder exists and that it does not");
        try {
            secret.writeTo(fd);
        } finally {
            system.libc().close(fd);
        }
    }

    /** Returns the protection of memory: {@code memfd_secret}, {@code mlock} or {@code not locked}. */
    public String protection() {
        return switch (kind) {
            case SECRET_FILE -> "memfd_secret";
            case LOCKED -> "mlock";
            case UNLOCKED -> "not locked";
        };
    }

    /** Returns whether secrets are kept out of swap; false only if configured explicitly. */
    public boolean locked() {
        return kind != GuardedPages.Kind.UNLOCKED;
    }

    /** Returns the number of secrets that were allocated and not yet wiped. */
    public int liveCount() {
        return open.get();
    }

    private interface Filler {
        void fill(SecretMemory secret) throws SecretException;
    }

    private SecretMemory filled(int length, Filler filling) throws SecretException {
        SecretMemory secret = allocate(length);
        boolean done = false;
        try {
            filling.fill(secret);
            done = true;
            return secret;
        } finally {
            if (!done) {
                secret.close();
            }
        }
    }
}
