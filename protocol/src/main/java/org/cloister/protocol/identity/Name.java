package org.cloister.protocol.identity;

import java.util.regex.Pattern;

/**
 * A machine's name in its certificate: the dNSName {@code ID.ROLE.PROJECT.cloister.internal}. Addresses are no names.
 *
 * @param role such as {@code worker} or {@code controller}
 */
public record Name(String id, String role, String project) {
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    public Name {
        requireLabel(id);
        requireLabel(role);
        requireLabel(project);
    }

    /** All names of a project are below it. */
    public static String ofProject(String project) {
        return requireLabel(project) + ".cloister.internal";
    }

    /** All names of a role in a project are below it. */
    public static String ofRole(String role, String project) {
        return requireLabel(role) + "." + ofProject(project);
    }

    @Override
    public String toString() {
        return id + "." + ofRole(role, project);
    }

    private static String requireLabel(String label) {
        if (!LABEL.matcher(label).matches()) {
            throw new IllegalArgumentException(
                    "name: want labels of a-z, 0-9 and -, at most 63 characters, have " + label);
        }
        return label;
    }
}
