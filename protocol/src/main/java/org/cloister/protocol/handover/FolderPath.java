package org.cloister.protocol.handover;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * Absolute path of a folder in its one spelling: no empty, {@code .} or {@code ..} component, no blank, no character
 * that a shell interprets.
 */
public record FolderPath(String text) {
    private static final int MAX = 255;
    private static final Pattern FORM = Pattern.compile("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+");

    /** Top folders in which a worker mounts its project's folders; all others belong to its image. */
    static final Set<String> TOPS = Set.of("home", "project", "srv", "mnt", "data");

    /** @throws IllegalArgumentException if the text is not such a path */
    public FolderPath {
        HandoverChecks.that(
                text.length() <= MAX && FORM.matcher(text).matches(),
                "path",
                "an absolute one of at most " + MAX + " letters, digits, ., _, - and /",
                HandoverChecks.other(text));
    }

    void requireInWorker(String what) {
        HandoverChecks.that(
                TOPS.contains(text.substring(1).split("/", 2)[0]),
                what,
                "one below /home, /project, /srv, /mnt or /data",
                text);
    }

    /** Returns whether the other folder is this one or below it. */
    boolean contains(FolderPath other) {
        return other.text.equals(text) || other.text.startsWith(text + "/");
    }

    @Override
    public String toString() {
        return text;
    }
}
