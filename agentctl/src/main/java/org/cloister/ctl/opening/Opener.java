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
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Withdrawal;

/** Who signs: a person's key of the day in the role opener, whose certificates hold now. */
final class Opener {
    private final Name name;
    private final Credential own;
    private final SigningKey key;
    private final List<ByteString> chain;

    private Opener(Name name, Credential own, SigningKey key, List<ByteString> chain) {
        this.name = name;
        this.own = own;
        this.key = key;
        this.chain = chain;
    }

    static Opener of(LoginFolder login, Beliefs beliefs) throws IOException {
        try {
            Credential own = login.read(Role.OPENER);
            Identity found = beliefs.verifyUnlisted(Chain.of(own.chain()), Set.of(Role.OPENER));
            List<ByteString> chain = new ArrayList<>();
            for (X509Certificate each : own.chain()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
            return new Opener(
                    found.name(),
                    own,
                    SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key())),
                    List.copyOf(chain));
        } catch (NoSuchFileException e) {
            throw new IOException(
                    login.path() + ": want certificates of an opener, have none; an owner gives the role (agentctl"
                            + " project member --role opener), then agentctl project login",
                    e);
        } catch (IdentityRefused e) {
            throw new IOException("opener.pem: " + e.getMessage() + "; agentctl project login", e);
        } catch (GeneralSecurityException e) {
            throw new IOException("opener.pem: a certificate has no DER", e);
        }
    }

    Name name() {
        return name;
    }

    /** For circuits. */
    Credential credential() {
        return own;
    }

    PartyMessage open(Opening opening) throws IOException {
        return new PartyMessage.Open(chain, signed(() -> opening.sign(key)));
    }

    PartyMessage close(Withdrawal withdrawal) throws IOException {
        return new PartyMessage.Close(chain, signed(() -> withdrawal.sign(key)));
    }

    private interface Signing {
        Envelope sign() throws GeneralSecurityException;
    }

    private static ByteString signed(Signing signing) throws IOException {
        try {
            return ByteString.copyFrom(signing.sign().bytes());
        } catch (GeneralSecurityException e) {
            throw new IOException("opener.key: cannot sign: " + e.getMessage(), e);
        }
    }
}
