package org.cloister.vm.controller.receipts;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.List;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.receipt.ReceiptBytes;
import org.cloister.vm.controller.tickets.SiteTrust;

/** A verified audit head of a relay, with its signer's certificate chain. */
record VerifiedAuditHead(VerificationKey key, List<ReceiptBytes> chain, AuditHead head, ReceiptBytes envelope) {
    VerifiedAuditHead {
        chain = List.copyOf(chain);
    }

    /**
     * Verifies a signed head.
     *
     * @throws IOException if this relay has not signed it
     */
    static VerifiedAuditHead verify(SiteTrust.TrustedRelay relay, ByteString signed) throws IOException {
        VerificationKey key = relay.identity().key();
        SignedAuditHead head =
                AuditHead.verify(DsseEnvelope.parse(signed.toByteArray(), AuditHead.MAX_BYTES), List.of(key));
        return new VerifiedAuditHead(
                key,
                ReceiptBytes.all(relay.chain()),
                head.head(),
                ReceiptBytes.of(head.envelope().bytes()));
    }

    /** Returns whether the holder of this chain has signed it. */
    boolean isSignedBy(List<ReceiptBytes> signer) {
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
