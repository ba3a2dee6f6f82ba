package org.cloister.ctl.project;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.address.HostPort;
import org.cloister.ctl.opening.SignedPolicy;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.ctl.relay.RelayAddressConverter;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectInvitation;
import org.cloister.transport.tls.PemCredentialFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for what an invitation contains beside the project's documents. */
final class InvitationOptions {
    @Option(
            names = "--relay",
            paramLabel = "HOST:PORT",
            converter = RelayAddressConverter.class,
            description = "For the invitation: address of the relay; default: the profile's.")
    private @Nullable InetSocketAddress relay;

    @Option(
            names = "--site",
            paramLabel = "FILE",
            description = "For the invitation: certificate of the site's CA, in PEM; default: the profile's.")
    private @Nullable Path site;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description = "For the invitation: the project policy, signed by the threshold of owners; default: the "
                    + "profile's.")
    private @Nullable Path policy;

    /**
     * Reads all parts of an invitation and verifies the policy.
     *
     * @param certificate the certificate of the person who joins, in DER; empty for an owner who has none
     */
    ProjectInvitation read(ProjectOption project, ProjectHistory owners, Optional<ByteString> certificate)
            throws IOException {
        NamedContents signed = policy == null
                ? project.require("--policy", ProjectProfile::policy)
                : NamedContents.read(policy, SignedPolicy.MAX_ENVELOPE);
        String address = relay == null ? project.require("--relay", ProjectProfile::relay) : HostPort.text(relay);
        try {
            return new ProjectInvitation(
                    owners,
                    Instant.now(),
                    site == null ? project.require("--site", ProjectProfile::site) : siteCertificates(site),
                    address,
                    SignedPolicy.read(signed, owners).envelope(),
                    certificate);
        } catch (IllegalArgumentException e) {
            throw new IOException("invitation: " + e.getMessage(), e);
        }
    }

    /** Signs an invitation with an owner's key. */
    static byte[] sign(ProjectInvitation invitation, SigningKey key) throws IOException {
        return ProjectDocumentFiles.sign(ProjectInvitation.TYPE, invitation.payload(), key)
                .bytes();
    }

    private static List<ByteString> siteCertificates(Path file) throws IOException {
        List<ByteString> certificates = new ArrayList<>();
        try {
            for (X509Certificate each : PemCredentialFile.certificates(file)) {
                certificates.add(ByteString.copyFrom(each.getEncoded()));
            }
        } catch (CertificateEncodingException e) {
            throw new IOException(file + ": a certificate has no DER", e);
        }
        return certificates;
    }
}
