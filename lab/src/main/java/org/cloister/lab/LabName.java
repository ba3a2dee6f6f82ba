package org.cloister.lab;

import java.util.regex.Pattern;

/** Name of a lab, unique on its machine. Short, because it is part of socket paths, which have at most 107 bytes. */
public record LabName(String text) {
    private static final Pattern PATTERN = Pattern.compile("[a-z][a-z0-9-]{0,19}");

    public LabName {
        if (!PATTERN.matcher(text).matches()) {
            throw new IllegalArgumentException("lab name \"" + text + "\": want " + PATTERN.pattern());
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
