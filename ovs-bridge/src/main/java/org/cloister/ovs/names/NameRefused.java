package org.cloister.ovs.names;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A name has no addresses that may be used. */
public final class NameRefused extends IOException {
    private static final long serialVersionUID = 1;

    NameRefused(HostName name, String wanted, String had, String remedy) {
        this(name, wanted, had, remedy, null);
    }

    NameRefused(HostName name, String wanted, String had, String remedy, @Nullable Throwable cause) {
        super("name " + name + ": want " + wanted + ", have " + had + "; " + remedy, cause);
    }
}
