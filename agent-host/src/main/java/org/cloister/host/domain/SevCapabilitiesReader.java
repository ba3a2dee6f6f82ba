package org.cloister.host.domain;

import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.Deque;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.cloister.base.encoding.MalformedException;

/**
 * Reads the supported memory protection from libvirt's domain capabilities. A feature that is not reported is not
 * supported.
 */
public final class SevCapabilitiesReader {
    private static final int MAX_CHARACTERS = 1 << 20;

    private SevCapabilitiesReader() {}

    /**
     * Reads the capabilities.
     *
     * @throws MalformedException if the text is not what libvirt writes
     */
    public static SevCapabilities read(String text) throws MalformedException {
        if (text.length() > MAX_CHARACTERS) {
            throw new MalformedException(
                    "domain capabilities: want at most " + MAX_CHARACTERS + " characters, have " + text.length());
        }
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        try {
            return read(factory.createXMLStreamReader(new StringReader(text)));
        } catch (XMLStreamException e) {
            throw new MalformedException("domain capabilities: want XML, have none", e);
        }
    }

    /**
     * Reads the features. SEV has an element of its own; SEV-SNP is a value of the launch security type, since libvirt
     * 10.5.
     */
    private static SevCapabilities read(XMLStreamReader xml) throws XMLStreamException, MalformedException {
        Deque<String> path = new ArrayDeque<>();
        boolean sev = false;
        boolean snp = false;
        boolean encryptedState = false;
        while (xml.hasNext()) {
            int event = xml.next();
            if (event == XMLStreamConstants.START_ELEMENT) {
                path.addLast(xml.getLocalName());
                String here = String.join("/", path);
                if (here.equals("domainCapabilities/features/sev")) {
                    sev = "yes".equals(xml.getAttributeValue(null, "supported"));
                } else if (here.equals("domainCapabilities/features/sev/maxESGuests")) {
                    // The text is read in any case, since this moves the reader past the element's end.
                    boolean guests = isPositive(xml.getElementText());
                    encryptedState = sev && guests;
                    path.removeLast();
                } else if (here.equals("domainCapabilities/features/launchSecurity/enum/value")) {
                    snp |= xml.getElementText().strip().equals(MemoryProtection.SEV_SNP.toString());
                    path.removeLast();
                }
            } else if (event == XMLStreamConstants.END_ELEMENT) {
                path.removeLast();
            } else if (event == XMLStreamConstants.DTD) {
                throw new MalformedException("domain capabilities: want no DTD");
            }
        }
        MemoryProtection best = snp ? MemoryProtection.SEV_SNP : sev ? MemoryProtection.SEV : MemoryProtection.NONE;
        return new SevCapabilities(best, encryptedState);
    }

    private static boolean isPositive(String text) {
        return text.strip().matches("[1-9][0-9]{0,9}");
    }
}
