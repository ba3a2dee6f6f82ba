package org.cloister.ctl.project;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.ProjectDocument;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Option by which an owner who signs a project's document also signs a first revocation list. */
final class FirstListOption {
    @Option(
            names = "--list",
            paramLabel = "FILE",
            description = "Also write this owner's first revocation list, which revokes nothing and is valid for 7 "
                    + "days, to a new file; agentctl project revoke renews it.")
    private @Nullable Path list;

    boolean isGiven() {
        return list != null;
    }

    /** Checks before the passphrase is typed that the list would not replace another one. */
    void requireNew() throws IOException {
        if (list != null && AtomicFile.exists(list)) {
            throw new IOException(list + ": want no file of that name, have one; agentctl project revoke renews it");
        }
    }

    /**
     * Signs the list, if the option asks for it.
     *
     * @param document names the project and its owners; others need not have signed it yet
     * @return the list in DER
     * @throws IOException if the key is not one of the document's owners'
     */
    Optional<byte[]> sign(ProjectDocument document, SigningKey key, Instant now) throws IOException {
        return list == null
                ? Optional.empty()
                : Optional.of(ProjectDocumentFiles.authority(
                                document.project(), document.owners().keys(), key)
                        .revoke(List.of(), BigInteger.ONE, now, CertificateAuthority.PROJECT_LIST));
    }

    void write(Optional<byte[]> signed) throws IOException {
        if (list != null && signed.isPresent()) {
            AtomicFile.create(list, signed.get());
        }
    }
}
