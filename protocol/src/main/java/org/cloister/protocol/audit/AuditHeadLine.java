package org.cloister.protocol.audit;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;

/** Signed head in a segment; its content is known after it is verified. */
public record AuditHeadLine(DsseEnvelope envelope) implements AuditLine {
    private static final String BASE64 = "\"[A-Za-z0-9+/]{1,2048}={0,2}\"";
    private static final Pattern SPELLING = Pattern.compile("\\{\"payload\":" + BASE64 + ",\"payloadType\":\""
            + Pattern.quote(AuditHead.TYPE) + "\",\"signatures\":\\[\\{\"keyid\":\"[a-z2-7]{52}\",\"sig\":" + BASE64
            + "\\}\\]\\}");

    static AuditHeadLine parse(byte[] line) throws MalformedException {
        if (!SPELLING.matcher(new String(line, StandardCharsets.ISO_8859_1)).matches()) {
            throw new MalformedException("line: want a head of one signature, have another spelling");
        }
        return new AuditHeadLine(DsseEnvelope.parse(line, AuditRecord.MAX_LINE));
    }
}
