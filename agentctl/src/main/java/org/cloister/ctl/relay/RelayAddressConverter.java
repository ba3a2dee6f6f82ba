package org.cloister.ctl.relay;

import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts {@code HOST:PORT}. The name is not resolved here; each connection resolves it again. */
public final class RelayAddressConverter implements ITypeConverter<InetSocketAddress> {
    private static final Pattern FORM = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[0-9A-Za-z.-]+):([0-9]{1,5})");
    private static final int MAX_PORT = 65535;

    @Override
    public InetSocketAddress convert(String text) {
        Matcher matcher = FORM.matcher(text);
        int port = matcher.matches() ? Integer.parseInt(matcher.group(2)) : 0;
        if (port < 1 || port > MAX_PORT) {
            throw new TypeConversionException("want HOST:PORT, have " + text);
        }
        return InetSocketAddress.createUnresolved(matcher.group(1), port);
    }
}
