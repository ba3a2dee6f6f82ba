package org.cloister.ctl.relay;

import java.net.InetSocketAddress;
import org.cloister.base.address.HostPort;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts {@code HOST:PORT}. The name is not resolved here; each connection resolves it again. */
public final class RelayAddressConverter implements ITypeConverter<InetSocketAddress> {
    @Override
    public InetSocketAddress convert(String text) {
        try {
            return HostPort.parse(text).unresolved();
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }
}
