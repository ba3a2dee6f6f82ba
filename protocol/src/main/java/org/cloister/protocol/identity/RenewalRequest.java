package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.SigningKey;

/**
 * Enrolment request (docs/protocol.md, section 6) with which a host or relay requests its next certificate. It equals
 * the result of {@link EnrolmentRequest#renewal}, with the runtime's own classes alone, so that daemons need no other
 * library.
 */
public final class RenewalRequest {
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int OID = 0x06;
    private static final int UTF8 = 0x0c;
    private static final int ATTRIBUTES = 0xa0;
    private static final int DNS_NAME = 0x82;
    private static final int BIT_STRING = 0x03;
    private static final byte[] VERSION = {0x02, 1, 0};
    private static final byte[] ORGANISATION = oid("55040a");
    private static final byte[] COMMON_NAME = oid("550403");
    private static final byte[] EXTENSION_REQUEST = oid("2a864886f70d01090e");
    private static final byte[] SUBJECT_ALT_NAME = oid("551d11");
    private static final byte[] ECDSA_WITH_SHA256 = oid("2a8648ce3d040302");

    private RenewalRequest() {}

    /**
     * Creates a signed request.
     *
     * @param key that was enrolled for the name
     */
    public static byte[] make(CertificateName name, SigningKey key) throws GeneralSecurityException {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", EnrolmentRequest.FORMAT)
                .put("name", name.toString())
                .put("request", BinaryText.base64(pkcs10(name, key)))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Returns a request by RFC 2986 with one dNSName. */
    private static byte[] pkcs10(CertificateName name, SigningKey key) throws GeneralSecurityException {
        byte[] names = tlv(SEQUENCE, tlv(DNS_NAME, name.toString().getBytes(StandardCharsets.US_ASCII)));
        byte[] extension = tlv(SEQUENCE, SUBJECT_ALT_NAME, tlv(DerValue.OCTET_STRING, names));
        byte[] attribute = tlv(SEQUENCE, EXTENSION_REQUEST, tlv(SET, tlv(SEQUENCE, extension)));
        byte[] subject = tlv(SEQUENCE, rdn(ORGANISATION, name.project()), rdn(COMMON_NAME, name.id()));
        byte[] info = tlv(SEQUENCE, VERSION, subject, key.verificationKey().encoded(), tlv(ATTRIBUTES, attribute));
        return tlv(SEQUENCE, info, tlv(SEQUENCE, ECDSA_WITH_SHA256), tlv(BIT_STRING, new byte[1], key.sign(info)));
    }

    private static byte[] rdn(byte[] type, String value) {
        return tlv(SET, tlv(SEQUENCE, type, tlv(UTF8, value.getBytes(StandardCharsets.US_ASCII))));
    }

    private static byte[] oid(String content) {
        return tlv(OID, HexFormat.of().parseHex(content));
    }

    private static byte[] tlv(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = content.size();
        if (length >= 1 << 8) {
            out.write(0x82);
            out.write(length >> 8);
        } else if (length >= 1 << 7) {
            out.write(0x81);
        }
        out.write(length);
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }
}
