package org.cloister.host.domain;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;

/**
 * Fuzzes the readers of libvirt's XML: each input has the requested value or is refused. The first byte chooses the
 * reader.
 */
class LibvirtXmlFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_domains_and_capabilities(byte[] input) {
        if (input.length == 0) {
            return;
        }
        String text = new String(Arrays.copyOfRange(input, 1, input.length), StandardCharsets.UTF_8);
        try {
            if (input[0] % 2 == 0) {
                DomainXmlReader.read(text, DomainState.RUNNING).ifPresent(LibvirtXmlFuzz::requireOwn);
            } else {
                SevCapabilitiesReader.read(text);
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }

    private static void requireOwn(ObservedDomain view) {
        if (!view.tap().equals(view.owner().names().tap())) {
            throw new IllegalStateException("a tap that is not its owner's");
        }
    }
}
