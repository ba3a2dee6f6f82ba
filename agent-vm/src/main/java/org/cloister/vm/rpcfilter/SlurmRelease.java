package org.cloister.vm.rpcfilter;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Releases of Slurm whose headers and requests the filter knows. Releases between them are refused until they have been
 * reviewed.
 */
public enum SlurmRelease {
    V22_05("22.05", 38),
    V24_11("24.11", 42),
    V26_05("26.05", 45);

    private static final Pattern VERSION_OUTPUT =
            Pattern.compile("slurm(?:-wlm)? ([0-9]{2}\\.[0-9]{2})\\.[0-9]{1,2}\\S{0,20}\\s*");
    private static final int VERSION_SHIFT = 8;

    private final String text;
    private final int protocol;

    SlurmRelease(String text, int protocol) {
        this.text = text;
        this.protocol = protocol;
    }

    /** Returns the release with these first two numbers, such as {@code 22.05}. */
    public static Optional<SlurmRelease> of(String numbers) {
        for (SlurmRelease release : values()) {
            if (release.text.equals(numbers)) {
                return Optional.of(release);
            }
        }
        return Optional.empty();
    }

    /** Returns the release that {@code slurmctld -V} prints, such as {@code slurm-wlm 22.05.8}. */
    public static Optional<SlurmRelease> ofVersionOutput(String output) {
        Matcher match = VERSION_OUTPUT.matcher(output);
        return match.matches() ? of(match.group(1)) : Optional.empty();
    }

    /** Returns whether its daemons read the state and the accounting that another release wrote. */
    public boolean readsStateOf(SlurmRelease other) {
        return other == this || (this == V26_05 && other == V24_11);
    }

    /** Returns the protocol version in the header of its messages. */
    int version() {
        return protocol << VERSION_SHIFT;
    }

    @Override
    public String toString() {
        return text;
    }
}
