package org.cloister.vm.receipt;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.List;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.SignedHead;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.receipt.Binary;
import org.cloister.vm.ticket.Site;

/** An audit head of a relay that was verified, and by whose chain. */
record Head(VerificationKey key, List<Binary> chain, AuditHead said, Binary envelope) {
    Head {
        chain = List.copyOf(chain);
    }

    /** @throws IOException if this relay has not signed it */
    static Head verify(Site.Relay from, ByteString signed) throws IOException {
        VerificationKey key = from.identity().key();
        SignedHead head = AuditHead.verify(Envelope.parse(signed.toByteArray(), AuditHead.MAX_BYTES), List.of(key));
        return new Head(
                key,
                Binary.all(from.chain()),
                head.head(),
                Binary.of(head.envelope().bytes()));
    }

    /** Whether whoever this chain is of has signed it. */
    boolean isOf(List<Binary> signer) {
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(signer.get(0).bytes()))
                    .getPublicKey()
                    .equals(key.publicKey());
        } catch (CertificateException e) {
            throw new IllegalStateException("a chain that was verified cannot be read", e);
        }
    }
}
