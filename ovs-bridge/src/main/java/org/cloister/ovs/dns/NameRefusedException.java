package org.cloister.ovs.dns;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Rejection of a name that has no usable addresses. */
public final class NameRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    NameRefusedException(HostName name, String expected, String actual, String remedy) {
        this(name, expected, actual, remedy, null);
    }

    NameRefusedException(HostName name, String expected, String actual, String remedy, @Nullable Throwable cause) {
        super("name " + name + ": want " + expected + ", have " + actual + "; " + remedy, cause);
    }
}
