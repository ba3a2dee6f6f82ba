package org.cloister.ctl.site;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.base.address.HostPort;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.circuit.NoLinkException;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.tls.TlsCredential;

/**
 * Sends the request of a machine that joins to the site's registration authority over the relays of its token, in
 * their order; docs/protocol.md, section 6. The relays are not trusted: each proves that the token's site certified it,
 * the request proves the token, and the caller verifies the certificate.
 */
final class OnlineEnrolment {
    private final EnrolmentTokenFile token;
    private final TrustStore trustStore;
    private final TlsCredential own;

    /** Verifies a certificate and puts it in its place. */
    @FunctionalInterface
    interface Installer {
        /**
         * Installs a certificate.
         *
         * @return the end of the certificate that is now in place
         * @throws MalformedException if it is not the machine's
         * @throws IdentityRefusedException if it is not of the token's site
         */
        Instant install(byte[] certificate, String from) throws IOException;
    }

    /**
     * Outcome of the attempt.
     *
     * @param until the end of the certificate in place; empty if no relay brought one
     * @param failure why not, of each relay
     */
    record Outcome(Optional<Instant> until, String failure) {}

    /**
     * Opens the token's own credential; dials no relay yet.
     *
     * @param token a file with a token certificate
     * @throws IOException also if the token has expired
     */
    OnlineEnrolment(EnrolmentTokenFile token, InstantSource clock) throws IOException {
        this.token = token;
        TrustAnchors site = TrustAnchors.none().withSite(List.of(token.siteKey()));
        this.trustStore = new TrustStore(site, RevocationLists.none(), clock);
        CertificateChain chain =
                CertificateChain.parse(List.of(token.tokenCertificate().toByteArray()));
        try {
            CertifiedIdentity identity = trustStore.verifyUnlisted(chain, Set.of(CertificateRole.JOIN));
            if (!identity.name().equals(token.name().forJoining())) {
                throw new MalformedException("token for " + token.name() + ": want the token certificate of "
                        + token.name().forJoining() + ", have one of " + identity.name() + "; make another token");
            }
        } catch (IdentityRefusedException e) {
            if (e.clause() != IdentityClause.TIME) {
                throw e;
            }
            throw new IOException(
                    "token for " + token.name() + ": " + e.getMessage()
                            + "; if this machine's clock is right, have the "
                            + "site's administrator make another (agentctl site enrol)",
                    e);
        }
        this.own = TlsCredential.of(
                token.token().privateKey(), List.of(token.tokenCertificate().toByteArray()));
    }

    /**
     * Requests a certificate until one relay brings one that the installer accepts.
     *
     * @throws IOException if the registration authority refused the token, or the certificate cannot be stored
     */
    Outcome request(EnrolmentRequest request, Installer installer) throws IOException {
        List<String> failures = new ArrayList<>();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            for (String relay : token.relays()) {
                try {
                    RenewalResult result = answer(loops, relay, request);
                    if (result.isGranted()) {
                        byte[] certificate = result.certificate().toByteArray();
                        return new Outcome(Optional.of(installer.install(certificate, "relay " + relay)), "");
                    }
                    requireNotFinal(result);
                    failures.add("relay " + relay + ": refused (" + result.refused() + ")");
                } catch (NoLinkException | MalformedException | IdentityRefusedException e) {
                    failures.add(String.valueOf(e.getMessage()));
                }
            }
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return new Outcome(Optional.empty(), String.join("; ", failures));
    }

    private RenewalResult answer(EventLoopGroup loops, String relay, EnrolmentRequest request) throws IOException {
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(HostPort.parse(relay).unresolved()), () -> own, trust -> trust, trustStore, "agentctl");
        CertificateResultWaiter waiter = new CertificateResultWaiter(relay, ByteString.copyFrom(request.json()));
        AgentLink link = new AgentLink(loops, terms, waiter, new SecureRandom());
        try {
            return waiter.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("relay " + relay + ": interrupted");
        } finally {
            link.close();
        }
    }

    /** Throws if another relay, or the request as a file, would be refused in the same way. */
    private void requireNotFinal(RenewalResult result) throws TokenRefusedException {
        String refused = result.refused();
        String subject = "enrolment of " + token.name() + ": refused (" + refused + ") by the site: ";
        if (refused.equals(IdentityClause.COPIED.toString())) {
            throw new TokenRefusedException(subject + "another key has used this token, and the name is revoked; "
                    + "tell the site's administrator, who makes another token when it is clear by whom");
        }
        if (Stream.of(IdentityClause.UNKNOWN, IdentityClause.PROOF, IdentityClause.EXPIRED, IdentityClause.REVOKED)
                .anyMatch(clause -> clause.toString().equals(refused))) {
            throw new TokenRefusedException(
                    subject + "this token enrols no key, or not this machine's; have the site's "
                            + "administrator make another (agentctl site enrol), for a revoked key with --new-key, or, "
                            + "if the relay may have made this up, use --offline");
        }
    }

    /** Refusal that the registration authority repeats whenever it is asked. */
    private static final class TokenRefusedException extends IOException {
        private static final long serialVersionUID = 1;

        TokenRefusedException(String message) {
            super(message);
        }
    }
}
