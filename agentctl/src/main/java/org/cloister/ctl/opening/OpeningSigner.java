package org.cloister.ctl.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.transport.tls.TlsCredential;

/**
 * Signs openings and withdrawals with a person's key of the day in the role opener, whose certificates are valid now.
 */
final class OpeningSigner {
    private final CertificateName name;
    private final TlsCredential own;
    private final SigningKey key;
    private final List<ByteString> chain;

    private OpeningSigner(CertificateName name, TlsCredential own, SigningKey key, List<ByteString> chain) {
        this.name = name;
        this.own = own;
        this.key = key;
        this.chain = List.copyOf(chain);
    }

    static OpeningSigner of(LoginFolder login, TrustStore trustStore) throws IOException {
        try {
            TlsCredential own = login.read(CertificateRole.OPENER);
            CertifiedIdentity found =
                    trustStore.verifyUnlisted(CertificateChain.of(own.chain()), Set.of(CertificateRole.OPENER));
            List<ByteString> chain = new ArrayList<>();
            for (X509Certificate each : own.chain()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
            return new OpeningSigner(
                    found.name(),
                    own,
                    SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key())),
                    chain);
        } catch (NoSuchFileException e) {
            throw new IOException(
                    login.path() + ": want certificates of an opener, have none; an owner gives the role (agentctl"
                            + " project member --role opener), then agentctl project login",
                    e);
        } catch (IdentityRefusedException e) {
            throw new IOException("opener.pem: " + e.getMessage() + "; agentctl project login", e);
        } catch (GeneralSecurityException e) {
            throw new IOException("opener.pem: a certificate has no DER", e);
        }
    }

    CertificateName name() {
        return name;
    }

    /** Returns the credential, for circuits. */
    TlsCredential credential() {
        return own;
    }

    AgentTicketMessage signOpening(Opening opening) throws IOException {
        return new AgentTicketMessage.Open(chain, signed(() -> opening.sign(key)));
    }

    AgentTicketMessage signWithdrawal(Withdrawal withdrawal) throws IOException {
        return new AgentTicketMessage.Close(chain, signed(() -> withdrawal.sign(key)));
    }

    private interface Signing {
        DsseEnvelope sign() throws GeneralSecurityException;
    }

    private static ByteString signed(Signing signing) throws IOException {
        try {
            return ByteString.copyFrom(signing.sign().bytes());
        } catch (GeneralSecurityException e) {
            throw new IOException("opener.key: cannot sign: " + e.getMessage(), e);
        }
    }
}
