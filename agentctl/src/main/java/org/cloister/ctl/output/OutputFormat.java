package org.cloister.ctl.output;

import java.util.Locale;

/** What {@code --output} takes. */
public enum OutputFormat {
    TABLE,
    JSON,
    YAML;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
