package org.cloister.host.domain;

import java.io.StringWriter;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** Writes XML for people: one element per line, indented by two blanks. */
final class IndentedXmlWriter {
    private final StringWriter text = new StringWriter();
    private final XMLStreamWriter xml;
    private int depth;

    IndentedXmlWriter() {
        try {
            xml = XMLOutputFactory.newFactory().createXMLStreamWriter(text);
        } catch (XMLStreamException e) {
            throw inMemory(e);
        }
    }

    /** @param attributes names and values in turn */
    IndentedXmlWriter open(String element, String... attributes) {
        return line(() -> {
            xml.writeStartElement(element);
            attributes(attributes);
            depth++;
        });
    }

    /** Opens an element with a prefix, and binds the prefix there. */
    IndentedXmlWriter openIn(String prefix, String namespace, String element) {
        return line(() -> {
            xml.writeStartElement(prefix, element, namespace);
            xml.writeNamespace(prefix, namespace);
            depth++;
        });
    }

    IndentedXmlWriter close() {
        depth--;
        return line(xml::writeEndElement);
    }

    IndentedXmlWriter leaf(String element, String content, String... attributes) {
        return line(() -> {
            xml.writeStartElement(element);
            attributes(attributes);
            xml.writeCharacters(content);
            xml.writeEndElement();
        });
    }

    IndentedXmlWriter empty(String element, String... attributes) {
        return line(() -> {
            xml.writeEmptyElement(element);
            attributes(attributes);
        });
    }

    @Override
    public String toString() {
        try {
            xml.flush();
        } catch (XMLStreamException e) {
            throw inMemory(e);
        }
        return text + "\n";
    }

    private void attributes(String... attributes) throws XMLStreamException {
        for (int i = 0; i < attributes.length; i += 2) {
            xml.writeAttribute(attributes[i], attributes[i + 1]);
        }
    }

    private IndentedXmlWriter line(Writing writing) {
        try {
            if (text.getBuffer().length() > 0 || depth > 0) {
                xml.writeCharacters("\n" + "  ".repeat(depth));
            }
            writing.write();
            return this;
        } catch (XMLStreamException e) {
            throw inMemory(e);
        }
    }

    private static IllegalStateException inMemory(XMLStreamException e) {
        return new IllegalStateException("writing XML to memory", e);
    }

    private interface Writing {
        void write() throws XMLStreamException;
    }
}
