package org.cloister.ctl.output;

import java.util.Locale;

/** Values of {@code --output}. */
public enum OutputFormat {
    TABLE,
    JSON,
    YAML;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
