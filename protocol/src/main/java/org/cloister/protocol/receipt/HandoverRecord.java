package org.cloister.protocol.receipt;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.identity.CertificateChain;

/**
 * Record of a hand-over by the controlling VM to a worker.
 *
 * @param certificates the worker's chain, the leaf first
 * @param nonce SHA-256 of the nonce that was spent with it
 */
public record HandoverRecord(Instant time, List<ReceiptBytes> certificates, Digest nonce) {
    static final int MAX_CERTIFICATES = 3;

    public HandoverRecord {
        time = time.truncatedTo(ChronoUnit.SECONDS);
        certificates = List.copyOf(certificates);
    }

    /**
     * Creates the record of a hand-over.
     *
     * @param chain in DER, the leaf first
     */
    public static HandoverRecord of(Instant time, List<byte[]> chain, Nonce nonce) {
        return new HandoverRecord(time, ReceiptBytes.all(chain), nonce.digest());
    }

    static HandoverRecord read(StrictJson json) throws MalformedException {
        HandoverRecord handOver = new HandoverRecord(
                json.time("time"), readChain(json, "certificates"), json.digest("nonce", Digest.Algorithm.SHA256));
        json.requireNothingCritical();
        return handOver;
    }

    void write(ObjectNode json) {
        json.put("time", time.toString());
        writeChain(json, "certificates", certificates);
        json.put("nonce", nonce.hex());
    }

    /** Reads certificates in DER, the leaf first. */
    public static List<ReceiptBytes> readChain(StrictJson json, String key) throws MalformedException {
        return ReceiptBytes.readAll(json, key, MAX_CERTIFICATES, CertificateChain.MAX_CERTIFICATE);
    }

    /** Writes certificates as {@link #readChain} reads them. */
    public static void writeChain(ObjectNode json, String key, List<ReceiptBytes> chain) {
        ArrayNode list = json.putArray(key);
        chain.forEach(each -> list.add(each.base64()));
    }
}
