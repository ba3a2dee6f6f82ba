package org.cloister.lab.guide;

import java.util.ArrayList;
import java.util.List;

/** Edits a TOML file as an administrator does: gives keys that are there, maybe as comments, their values. */
final class TomlSettings {
    private TomlSettings() {}

    /** @param settings lines {@code key = value} below lines {@code [table]} */
    static String apply(String file, String settings) {
        List<String> lines = new ArrayList<>(file.lines().toList());
        String table = "";
        for (String setting : settings.lines().toList()) {
            if (setting.startsWith("[")) {
                table = setting;
            } else if (!setting.isBlank()) {
                set(lines, table, setting);
            }
        }
        return String.join("\n", lines) + "\n";
    }

    private static void set(List<String> lines, String table, String setting) {
        String key = setting.substring(0, setting.indexOf(" = ") + 3);
        String in = "";
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith("[")) {
                in = line;
            }
            if (in.equals(table) && (line.startsWith(key) || line.startsWith("#" + key))) {
                lines.set(i, setting);
                return;
            }
        }
        throw new IllegalArgumentException("key " + key + "not in the file's part " + table);
    }
}
