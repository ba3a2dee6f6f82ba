package org.cloister.ctl;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option's value by the word that help and completion show, and rejects any other value. */
record EnumConverter<E extends Enum<E>>(Class<E> type) implements ITypeConverter<E> {
    @Override
    public E convert(String word) {
        E[] values = type.getEnumConstants();
        return Arrays.stream(values)
                .filter(value -> value.toString().equals(word))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("want "
                        + Arrays.stream(values).map(Object::toString).collect(Collectors.joining(" or ")) + ", have \""
                        + word + "\""));
    }
}
