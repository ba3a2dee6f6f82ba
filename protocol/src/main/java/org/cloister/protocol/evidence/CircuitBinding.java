package org.cloister.protocol.evidence;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;

/**
 * Binds a statement to the circuit in which it is shown, by both ends' certificates, whose keys the handshake proved.
 * The runtime has no TLS exporter (RFC 9266) before JDK 25; docs/protocol.md states why certificates suffice.
 *
 * @param digest SHA-384 over {@link #LABEL}, a zero byte, and the SHA-384 of the server's and of the client's
 *     certificate
 */
public record CircuitBinding(Digest digest) {
    /** Name of this type of binding in statements. */
    public static final String TYPE = "tls-certificates";

    public static final String LABEL = "cloister circuit binding v1";
    static final int BYTES = 48;

    public CircuitBinding {
        if (digest.algorithm() != Digest.Algorithm.SHA384) {
            throw new IllegalArgumentException("circuit binding: want SHA-384, have " + digest.algorithm());
        }
    }

    /**
     * Computes the binding of a circuit.
     *
     * @param server its end-entity certificate in DER, as it was sent; {@code client} likewise
     */
    public static CircuitBinding of(byte[] server, byte[] client) {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        input.writeBytes(LABEL.getBytes(StandardCharsets.US_ASCII));
        input.write(0);
        input.writeBytes(Digest.sha384(server).bytes());
        input.writeBytes(Digest.sha384(client).bytes());
        return new CircuitBinding(Digest.sha384(input.toByteArray()));
    }

    String base64() {
        return BinaryText.base64(digest.bytes());
    }

    @Override
    public String toString() {
        return digest.toString();
    }
}
