package org.cloister.ipsec;

import java.util.regex.Pattern;

/**
 * Name of a VM in its certificate and in IKE: the dNSName {@code ID.ROLE.PROJECT.cloister.internal}.
 *
 * @param role {@code worker} or {@code controller}
 */
public record TunnelIdentity(String id, String role, String project) {
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    public TunnelIdentity {
        for (String label : new String[] {id, role, project}) {
            if (!LABEL.matcher(label).matches()) {
                throw new IllegalArgumentException(
                        "identity: want labels of a-z, 0-9 and -, at most 63 characters, have " + label);
            }
        }
        if (!role.equals("worker") && !role.equals("controller")) {
            throw new IllegalArgumentException("identity: want role worker or controller, have " + role);
        }
    }

    public static TunnelIdentity worker(String id, String project) {
        return new TunnelIdentity(id, "worker", project);
    }

    public static TunnelIdentity controller(String id, String project) {
        return new TunnelIdentity(id, "controller", project);
    }

    @Override
    public String toString() {
        return id + "." + role + "." + project + ".cloister.internal";
    }
}
