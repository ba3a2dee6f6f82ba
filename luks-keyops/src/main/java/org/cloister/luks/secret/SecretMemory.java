package org.cloister.luks.secret;

import jnr.ffi.Pointer;

/**
 * A secret outside the Java heap, in locked pages that are in no dump and no forked child, zeroed on close. Its bytes
 * leave it only by a copy into another secret, a write to a descriptor, or a {@link Loan} for a native call.
 *
 * <p>{@link SecretAllocator} creates it. Safe for use by several threads; a secret closed while it is lent is zeroed
 * when the last loan ends. Two secrets are never {@code equals}: see {@link #sameAs}.
 */
public final class SecretMemory implements AutoCloseable {
    private final MemorySystemCalls system;
    private final GuardedPages pages;
    private final int length;
    private final Runnable onWiped;
    private int loans;
    private boolean closed;

    SecretMemory(MemorySystemCalls system, GuardedPages pages, int length, Runnable onWiped) {
        this.system = system;
        this.pages = pages;
        this.length = length;
        this.onWiped = onWiped;
    }

    /**
     * The secret's address, for native calls, until the loan is closed. Pass the pointer to C only; read nothing from
     * it in Java.
     */
    public final class Loan implements AutoCloseable {
        private boolean over;

        private Loan() {}

        public Pointer pointer() {
            if (over) {
                throw new IllegalStateException("loan of a secret: want an open one, have a closed one");
            }
            return pages.bytes();
        }

        public int length() {
            return length;
        }

        @Override
        public void close() {
            if (!over) {
                over = true;
                releaseLoan();
            }
        }
    }

    /** @throws IllegalStateException when the secret is closed */
    public Loan lend() {
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("secret of " + length + " bytes: want an open one, have a closed one");
            }
            loans++;
        }
        return new Loan();
    }

    /** Returns the length in bytes. */
    public int length() {
        return length;
    }

    /** Copies {@code count} bytes, starting at {@code from}, into {@code target}, starting at {@code at}. */
    public void copyTo(SecretMemory target, int from, int at, int count) {
        requireRange(from, count, length);
        requireRange(at, count, target.length);
        try (Loan source = lend();
                Loan sink = target.lend()) {
            system.libc().memcpy(sink.pointer().slice(at), source.pointer().slice(from), count);
        }
    }

    /** Compares lengths, then all bytes in a time that does not depend on their values. */
    public boolean sameAs(SecretMemory other) {
        if (length != other.length) {
            return false;
        }
        try (Loan mine = lend();
                Loan theirs = other.lend()) {
            int difference = 0;
            for (int i = 0; i < length; i++) {
                difference |= mine.pointer().getByte(i) ^ theirs.pointer().getByte(i);
            }
            return difference == 0;
        }
    }

    /** Writes all bytes to a file descriptor, such as a pipe to a child or a new file in tmpfs. */
    public void writeTo(int fd) throws SecretException {
        try (Loan loan = lend()) {
            system.write(fd, loan.pointer(), length);
        }
    }

    /** Zeroes and unmaps the secret, at once or when the last loan ends. Closing again does nothing. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (loans > 0) {
                return;
            }
        }
        release();
    }

    void wipe() {
        system.libc().explicit_bzero(pages.bytes(), length);
    }

    /** Returns the length and nothing else. */
    @Override
    public String toString() {
        return "SecretMemory[" + length + " bytes]";
    }

    private void releaseLoan() {
        synchronized (this) {
            loans--;
            if (!closed || loans > 0) {
                return;
            }
        }
        release();
    }

    private void release() {
        wipe();
        pages.unmap();
        onWiped.run();
    }

    private static void requireRange(int from, int count, int length) {
        if (from < 0 || count < 0 || count > length - from) {
            throw new IllegalArgumentException(
                    "part of a secret: want bytes within 0 to " + length + ", have " + count + " from " + from + " on");
        }
    }
}
