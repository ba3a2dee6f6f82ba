package org.cloister.ovs.dns;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Rejection of a name that has no usable addresses. */
public final class NameRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    NameRefusedException(HostName name, String wanted, String had, String remedy) {
        this(name, wanted, had, remedy, null);
    }

    NameRefusedException(HostName name, String wanted, String had, String remedy, @Nullable Throwable cause) {
        super("name " + name + ": want " + wanted + ", have " + had + "; " + remedy, cause);
    }
}
