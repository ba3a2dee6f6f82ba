package org.cloister.luks.volume;

import java.nio.file.Path;

/** Name of a mapped device: 1 to 100 of {@code A-Z a-z 0-9 . _ -}, beginning with a letter or digit. */
public record MappingName(String text) {
    private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}";

    public MappingName {
        if (!text.matches(NAME)) {
            throw new IllegalArgumentException("mapping: want " + NAME + ", have \"" + text + "\"");
        }
    }

    /** Returns the path of the device node. */
    public Path path() {
        return Path.of("/dev/mapper", text);
    }
}
