package org.cloister.host.scratch;

import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;

/**
 * Name of a scratch file, which contains its whole owner: the file is marked from its creation, on every file system,
 * and can be matched to its VM when the ledger is lost.
 */
public final class ScratchFileName {
    private static final String END = ".scratch";

    private ScratchFileName() {}

    /** Returns the name, of at most 188 characters; file systems permit 255. */
    public static String of(ResourceOwner owner) {
        return owner.mark() + END;
    }

    /**
     * Parses a name.
     *
     * @return empty for a name that {@link #of} does not produce
     */
    public static Optional<ResourceOwner> parse(String name) {
        return name.endsWith(END)
                ? ResourceOwner.parse(name.substring(0, name.length() - END.length()))
                : Optional.empty();
    }
}
