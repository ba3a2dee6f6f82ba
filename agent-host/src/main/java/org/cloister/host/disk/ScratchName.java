package org.cloister.host.disk;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.host.vm.VmOwner;

/**
 * A scratch file's name is its owner, whole: the file is marked from the moment it is there, on every file system, and can
 * be counted among its VM's objects when the ledger is lost.
 */
public final class ScratchName {
    private static final Pattern NAME =
            Pattern.compile("([a-z2-7]{52})\\.([a-z2-7]{16,64})\\.(0|[1-9][0-9]{0,4})\\.([1-9][0-9]{0,15})"
                    + "\\.([0-9a-f-]{36})\\.scratch");

    private ScratchName() {}

    /** At most 188 characters of the 255 that file systems take. */
    public static String of(VmOwner owner) {
        return String.join(
                ".",
                owner.project(),
                owner.ticket(),
                Integer.toString(owner.slot()),
                Long.toString(owner.globalJob()),
                owner.uuid(),
                "scratch");
    }

    /** @return empty for a name that {@link #of} gives to nobody */
    public static Optional<VmOwner> parse(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new VmOwner(
                    matcher.group(1),
                    matcher.group(2),
                    Integer.parseInt(matcher.group(3)),
                    Long.parseLong(matcher.group(4)),
                    matcher.group(5)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
