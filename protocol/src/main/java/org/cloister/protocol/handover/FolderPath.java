package org.cloister.protocol.handover;

import java.util.Set;
import java.util.regex.Pattern;

/** A folder's absolute path in its one spelling: no empty, {@code .} or {@code ..} step, no blank, nothing a shell reads. */
public record FolderPath(String text) {
    private static final int MAX = 255;
    private static final Pattern FORM = Pattern.compile("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+");

    /** Where a worker has folders of its project; whatever else is in its image is the image's. */
    static final Set<String> TOPS = Set.of("home", "project", "srv", "mnt", "data");

    /** @throws IllegalArgumentException if it is none */
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

    /** The same folder, or one above. */
    boolean contains(FolderPath other) {
        return other.text.equals(text) || other.text.startsWith(text + "/");
    }

    @Override
    public String toString() {
        return text;
    }
}
