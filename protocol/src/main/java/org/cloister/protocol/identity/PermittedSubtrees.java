package org.cloister.protocol.identity;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Permitted dNSNames of name constraints (RFC 5280, section 4.2.1.10). */
final class PermittedSubtrees {
    private static final int PERMITTED = 0xa0;
    private static final int DNS_NAME = 0x82;
    private static final int MAX_NAMES = 16;

    private PermittedSubtrees() {}

    /**
     * Reads the permitted dNSNames of an extension.
     *
     * @param extension as {@link java.security.cert.X509Extension#getExtensionValue} returns it
     */
    static List<String> read(byte[] extension) throws MalformedException {
        byte[] constraints = DerValue.read(extension, DerValue.OCTET_STRING).content();
        List<String> names = new ArrayList<>();
        for (DerValue trees : DerValue.read(constraints, DerValue.SEQUENCE).values()) {
            if (trees.tag() == PERMITTED) {
                for (DerValue tree : trees.values()) {
                    List<DerValue> parts = tree.values();
                    // Distances may follow the name; RFC 5280 forbids them.
                    if (parts.size() != 1) {
                        throw new MalformedException("name constraints: want names alone, have distances");
                    }
                    if (parts.get(0).tag() == DNS_NAME) {
                        names.add(new String(parts.get(0).content(), StandardCharsets.US_ASCII));
                    }
                }
            }
        }
        if (names.isEmpty() || names.size() > MAX_NAMES) {
            throw new MalformedException(
                    "name constraints: want 1 to " + MAX_NAMES + " permitted dNSNames, have " + names.size());
        }
        return List.copyOf(names);
    }
}
