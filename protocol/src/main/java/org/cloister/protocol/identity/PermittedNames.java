package org.cloister.protocol.identity;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.MalformedException;

/** The dNSNames that name constraints (RFC 5280 section 4.2.1.10) permit. */
final class PermittedNames {
    private static final int PERMITTED = 0xa0;
    private static final int DNS_NAME = 0x82;
    private static final int MAX_NAMES = 16;

    private PermittedNames() {}

    /** @param extension as {@link java.security.cert.X509Extension#getExtensionValue} has it */
    static List<String> read(byte[] extension) throws MalformedException {
        byte[] constraints = Der.read(extension, Der.OCTET_STRING).content();
        List<String> names = new ArrayList<>();
        for (Der trees : Der.read(constraints, Der.SEQUENCE).values()) {
            if (trees.tag() == PERMITTED) {
                for (Der tree : trees.values()) {
                    List<Der> parts = tree.values();
                    // Behind the name there may be distances, which RFC 5280 forbids.
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
