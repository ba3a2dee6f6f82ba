package org.cloister.protocol.identity;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Any bytes from outside give a value, or a refusal that an operator can read. The first byte says to which parser. */
class CertifiedIdentityFuzz {
    private static final int LONGEST = 4_000;

    private interface Parser {
        Object parse(byte[] bytes) throws IOException;
    }

    private static final List<Parser> PARSERS = List.of(
            ProjectHistory::fromGenesis,
            ProjectDocument::parseGenesis,
            ProjectDocument::parseSuccessor,
            ProjectApproval::parse,
            CertificateRequest::parse,
            EnrolmentRequest::parse,
            EnrolmentToken::parse,
            PermittedSubtrees::read,
            SigningKeyFile::parse,
            AuthorityCertificate::parse,
            bytes -> CertificateChain.parse(List.of(bytes)),
            bytes -> RevocationList.read(bytes, List.of()));

    @FuzzTest(maxDuration = "60s")
    void ends_in_a_value_or_a_typed_refusal(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        try {
            PARSERS.get(Math.floorMod(input[0], PARSERS.size())).parse(bytes);
        } catch (MalformedException | IdentityRefusedException | CertificationRefusedException e) {
            if (e.getMessage() == null || e.getMessage().length() > LONGEST) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        } catch (IOException e) {
            throw new IllegalStateException("not a refusal of ours", e);
        }
    }
}
