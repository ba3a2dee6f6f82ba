package org.cloister.host.domain;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.vm.ResourceOwner;

/**
 * Reads the XML that libvirt returns for a domain: strictly if the domain is ours, and not at all otherwise. A domain
 * with our metadata is ours; malformed metadata is an error, and the domain then has no owner.
 */
public final class DomainXmlReader {
    /** Several times the length of a domain with the most disks and CPUs. */
    static final int MAX_CHARACTERS = 1 << 18;

    private static final int MAX_DEPTH = 32;
    private static final int MAX_TEXT = 4096;
    private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,15}");
    private static final String OWNER = "/domain/metadata/{" + DomainXml.NAMESPACE + "}" + DomainXml.OWNER;

    private final XMLStreamReader xml;
    private final List<String> path = new ArrayList<>();
    private final Map<String, String> single = new HashMap<>();
    private final List<Path> disks = new ArrayList<>();
    private final List<String> repeated = new ArrayList<>();
    private boolean ours;
    private boolean agentChannel;
    private String channelPath = "";

    private DomainXmlReader(XMLStreamReader xml) {
        this.xml = xml;
    }

    /**
     * Reads a domain.
     *
     * @return empty if it does not carry our metadata
     * @throws MalformedException if it is not what libvirt writes, or carries our metadata and does not have the form
     *     that we create
     */
    public static Optional<ObservedDomain> read(String text, DomainState state) throws MalformedException {
        if (text.length() > MAX_CHARACTERS) {
            throw new MalformedException(
                    "domain: want at most " + MAX_CHARACTERS + " characters, have " + text.length());
        }
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        try {
            DomainXmlReader reader = new DomainXmlReader(factory.createXMLStreamReader(new StringReader(text)));
            reader.walk();
            return reader.ours ? Optional.of(reader.view(state)) : Optional.empty();
        } catch (XMLStreamException e) {
            throw new MalformedException("domain: want XML, have: " + firstLine(e), e);
        } catch (IllegalArgumentException e) {
            throw new MalformedException("domain: " + e.getMessage(), e);
        }
    }

    private void walk() throws XMLStreamException, MalformedException {
        StringBuilder content = new StringBuilder();
        while (xml.hasNext()) {
            switch (xml.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    content.setLength(0);
                    start();
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.SPACE, XMLStreamConstants.CDATA -> {
                    // None of our values is as long; others may write long ones into their domains.
                    if (content.length() + xml.getTextLength() <= MAX_TEXT) {
                        content.append(xml.getText());
                    }
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    end(content.toString());
                    content.setLength(0);
                }
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                    throw new MalformedException("domain: want no DTD and no entities");
                default -> {}
            }
        }
    }

    private void start() throws MalformedException {
        String namespace = xml.getNamespaceURI();
        path.add(
                namespace == null || namespace.isEmpty()
                        ? xml.getLocalName()
                        : "{" + namespace + "}" + xml.getLocalName());
        if (path.size() > MAX_DEPTH) {
            throw new MalformedException(here() + ": want at most " + MAX_DEPTH + " elements deep");
        }
        switch (here()) {
            case OWNER -> once(OWNER, "");
            case "/domain/devices/disk/source" -> disks.add(Path.of(attribute("file")));
            case "/domain/devices/interface/target" -> once("tap", attribute("dev"));
            case "/domain/devices/channel" -> {
                agentChannel = false;
                channelPath = "";
            }
            case "/domain/devices/channel/source" -> channelPath = attribute("path");
            case "/domain/devices/channel/target" -> agentChannel = DomainDevicesXml.CHANNEL.equals(attribute("name"));
            default -> {}
        }
        ours |= here().equals(OWNER);
    }

    private void end(String content) {
        String here = here();
        if (here.equals("/domain/name") || here.equals("/domain/uuid")) {
            once(here, content);
        } else if (here.startsWith(OWNER + "/")) {
            once(here.substring(OWNER.length() + 1), content);
        } else if (here.equals("/domain/devices/channel") && agentChannel) {
            once("channel", channelPath);
        }
        path.remove(path.size() - 1);
    }

    private ObservedDomain view(DomainState state) throws MalformedException {
        if (!repeated.isEmpty()) {
            throw new MalformedException("domain: want " + repeated.get(0) + " once, have it twice");
        }
        ResourceOwner owner = new ResourceOwner(
                owned("project"),
                owned("ticket"),
                Math.toIntExact(number("slot", Integer.MAX_VALUE)),
                number("global-job", Long.MAX_VALUE),
                owned("uuid"));
        requireSame("name", owner.names().domain(), found("/domain/name"));
        requireSame("uuid", owner.uuid(), found("/domain/uuid"));
        requireSame("tap", owner.names().tap(), found("tap"));
        return new ObservedDomain(owner, state, found("tap"), Path.of(found("channel")), disks);
    }

    private String owned(String element) throws MalformedException {
        return found("{" + DomainXml.NAMESPACE + "}" + element);
    }

    private long number(String element, long max) throws MalformedException {
        String text = owned(element);
        if (!NUMBER.matcher(text).matches() || Long.parseLong(text) > max) {
            throw new MalformedException("domain's " + element + ": want a number, have \"" + printable(text) + "\"");
        }
        return Long.parseLong(text);
    }

    private String found(String what) throws MalformedException {
        String value = single.get(what);
        if (value == null) {
            throw new MalformedException("domain: want " + what + ", have none");
        }
        return value;
    }

    /** Records a value; a repeated one is an error in a domain of ours only. */
    private void once(String what, String value) {
        if (single.put(what, value) != null) {
            repeated.add(what);
        }
    }

    private static void requireSame(String what, String expected, String actual) throws MalformedException {
        if (!expected.equals(actual)) {
            throw new MalformedException(
                    "domain's " + what + ": want its owner's, " + expected + ", have \"" + printable(actual) + "\"");
        }
    }

    private String attribute(String name) {
        String value = xml.getAttributeValue(null, name);
        return value == null ? "" : value;
    }

    private String here() {
        return "/" + String.join("/", path);
    }

    private static String printable(String text) {
        return text.substring(0, Math.min(text.length(), 80)).replaceAll("[^ -~]", "?");
    }

    private static String firstLine(XMLStreamException e) {
        return printable(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
}
