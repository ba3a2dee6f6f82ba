package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_LOG_ERROR;

import jnr.ffi.Pointer;

/**
 * Collects what libcryptsetup logs as errors until the next call. The single instance is never garbage-collected: the
 * library keeps a pointer to it for as long as the process lives. Guarded by {@link Cryptsetup}'s lock.
 */
final class CryptsetupErrorLog implements LibCryptsetup.LogCallback {
    static final CryptsetupErrorLog INSTANCE = new CryptsetupErrorLog();

    private static final int MAX_CHARS = 500;

    private final StringBuilder text = new StringBuilder();

    private CryptsetupErrorLog() {}

    @Override
    public void log(int level, String message, Pointer usrptr) {
        if (level == CRYPT_LOG_ERROR && text.length() < MAX_CHARS) {
            text.append(text.isEmpty() ? "" : " ").append(message.strip());
        }
    }

    void clear() {
        text.setLength(0);
    }

    String text() {
        return text.length() <= MAX_CHARS ? text.toString() : text.substring(0, MAX_CHARS);
    }
}
