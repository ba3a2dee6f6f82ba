package org.cloister.relay;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.relay.links.DocumentDelivery;
import org.cloister.relay.state.DeliveredDocuments;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The site's revocation list that {@code agentctl relay join} puts beside the site's certificate, so that a new relay
 * needs no delivery by hand. It counts as delivered if the relay has no list as new as it, and is verified as any list.
 */
final class FirstRevocationList {
    /** Name of its file, in the folder of the site's certificate. */
    static final String FILE = "revocations.crl";

    private static final Logger LOG = LoggerFactory.getLogger(FirstRevocationList.class);

    private FirstRevocationList() {}

    /** Delivers the list. One that cannot be used is logged: the relay then accepts no agent until it has another. */
    static void deliver(
            Path siteCertificate,
            Collection<VerificationKey> site,
            DeliveredDocuments documents,
            DocumentDelivery delivery) {
        Path file = siteCertificate.resolveSibling(FILE);
        try {
            if (AtomicFile.exists(file)) {
                byte[] signed = AtomicFile.read(file, RevocationList.MAX_BYTES);
                if (isNewer(RevocationList.read(signed, site), documents)) {
                    delivery.deliver(signed);
                }
            }
        } catch (IOException e) {
            LOG.warn(
                    "revocation list not used file={} reason=\"{}\"; agentctl site serve delivers another, or agentctl "
                            + "relay deliver",
                    file,
                    e.getMessage());
        }
    }

    private static boolean isNewer(RevocationList list, DeliveredDocuments documents) {
        return documents.revocationListsFor(CertificateName.SITE).stream()
                .noneMatch(held ->
                        held.anchor().equals(list.anchor()) && held.number().compareTo(list.number()) >= 0);
    }
}
