package org.cloister.host.scratch;

import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;

/**
 * A scratch file's name is its owner, whole: the file is marked from the moment it is there, on every file system, and can
 * be counted among its VM's objects when the ledger is lost.
 */
public final class ScratchFileName {
    private static final String END = ".scratch";

    private ScratchFileName() {}

    /** At most 188 characters of the 255 that file systems take. */
    public static String of(ResourceOwner owner) {
        return owner.mark() + END;
    }

    /** @return empty for a name that {@link #of} gives to nobody */
    public static Optional<ResourceOwner> parse(String name) {
        return name.endsWith(END)
                ? ResourceOwner.parse(name.substring(0, name.length() - END.length()))
                : Optional.empty();
    }
}
