package org.cloister.protocol.receipt;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Bytes of another signer or issuer as a receipt carries them: an envelope or a certificate.
 *
 * @param base64 with padding
 */
public record ReceiptBytes(String base64) {
    private static final int QUOTED_BYTES = 16;
    private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9+/]+={0,2}");

    public static ReceiptBytes of(byte[] bytes) {
        return new ReceiptBytes(BinaryText.base64(bytes));
    }

    /**
     * Reads one value.
     *
     * @param max limit of the value in bytes
     */
    public static ReceiptBytes read(StrictJson json, String key, int max) throws MalformedException {
        return of(json.base64(key, max));
    }

    /**
     * Reads a list of values.
     *
     * @param count limit of the number of values; there must be at least one
     */
    public static List<ReceiptBytes> readAll(StrictJson json, String key, int count, int max)
            throws MalformedException {
        List<ReceiptBytes> all = new ArrayList<>();
        for (String each : json.texts(key, count, BASE64)) {
            try {
                all.add(of(BinaryText.fromBase64(each, max)));
            } catch (IllegalArgumentException e) {
                throw json.at(key, new MalformedException(e.getMessage(), e));
            }
        }
        return all;
    }

    public static List<ReceiptBytes> all(List<byte[]> all) {
        return all.stream().map(ReceiptBytes::of).toList();
    }

    public static List<byte[]> bytes(List<ReceiptBytes> all) {
        return all.stream().map(ReceiptBytes::bytes).toList();
    }

    public byte[] bytes() {
        return BinaryText.fromBase64(base64, Integer.MAX_VALUE / 2);
    }

    @Override
    public String toString() {
        return base64.length() <= QUOTED_BYTES ? base64 : base64.substring(0, QUOTED_BYTES) + "...";
    }
}
