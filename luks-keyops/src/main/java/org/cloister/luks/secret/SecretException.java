package org.cloister.luks.secret;

import java.io.IOException;

/**
 * Failure of a native call for secret memory. The message has operation, call, both values and remedy, never a secret's
 * bytes.
 */
public final class SecretException extends IOException {
    private static final long serialVersionUID = 1;

    private final String call;
    private final int errno;

    /**
     * @param call the C function that failed, or the library that is missing
     * @param errno 0 where the call has none
     */
    public SecretException(String operation, String call, int errno, String actual, String remedy) {
        super(operation + ": " + call + ": " + actual + (errno == 0 ? "" : " (errno " + errno + ")") + "; " + remedy);
        this.call = call;
        this.errno = errno;
    }

    public String call() {
        return call;
    }

    public int errno() {
        return errno;
    }
}
