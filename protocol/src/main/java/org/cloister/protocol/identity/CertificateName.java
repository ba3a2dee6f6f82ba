package org.cloister.protocol.identity;

import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Name of a certificate's holder: the dNSName {@code ID.ROLE.PROJECT.cloister.internal}, where PROJECT is {@link #SITE}
 * for hosts and relays. Addresses are not names.
 *
 * @param role such as {@code worker} or {@code controller}
 */
public record CertificateName(String id, String role, String project) {
    /** Replaces the project's id; every project's id is longer. */
    public static final String SITE = "site";

    private static final String DOMAIN = ".cloister.internal";
    private static final int MAX_LENGTH = 253;
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    public CertificateName {
        requireLabel(id);
        requireLabel(role);
        requireLabel(project);
    }

    /**
     * Parses a name.
     *
     * @param dnsName may come from anyone
     */
    public static CertificateName parse(String dnsName) throws MalformedException {
        if (dnsName.length() <= MAX_LENGTH && dnsName.endsWith(DOMAIN)) {
            String[] labels =
                    dnsName.substring(0, dnsName.length() - DOMAIN.length()).split("\\.", -1);
            if (labels.length == 3 && isLabel(labels[0]) && isLabel(labels[1]) && isLabel(labels[2])) {
                return new CertificateName(labels[0], labels[1], labels[2]);
            }
        }
        throw new MalformedException("name: want ID.ROLE.PROJECT" + DOMAIN + ", have " + StrictJson.quoted(dnsName));
    }

    /**
     * Parses a name that a peer sent.
     *
     * @param field name of the field, for the error's text, which is logged and contains nothing of what the peer sent
     */
    public static CertificateName parseReceived(String field, String text) throws MalformedException {
        try {
            return parse(text);
        } catch (MalformedException e) {
            throw new MalformedException(
                    field + ": want ID.ROLE.PROJECT.cloister.internal, labels of a-z, 0-9 and -, have " + text.length()
                            + " characters of another form");
        }
    }

    /** Returns the name under which a host or relay of this name joins its site, before it has a certificate. */
    public CertificateName forJoining() {
        return new CertificateName(id, CertificateRole.JOIN.toString(), SITE);
    }

    public static boolean isLabel(String label) {
        return LABEL.matcher(label).matches();
    }

    /** Returns the suffix of all names of a project. */
    public static String ofProject(String project) {
        return requireLabel(project) + DOMAIN;
    }

    /** Returns the suffix of all names of a role in a project. */
    public static String ofRole(String role, String project) {
        return requireLabel(role) + "." + ofProject(project);
    }

    @Override
    public String toString() {
        return id + "." + ofRole(role, project);
    }

    private static String requireLabel(String label) {
        if (!isLabel(label)) {
            throw new IllegalArgumentException(
                    "name: want labels of a-z, 0-9 and -, at most 63 characters, have " + label);
        }
        return label;
    }
}
