#!/bin/sh
# usage: cached.sh CCACHE TREE COMPILER WORD...: runs the compiler through the cache, by which a second clone of the
# repository finds the objects of the first.
# A precompiled header is made without the one that was there before: it would be read for the headers as they are now.
cache=$1 CCACHE_BASEDIR=$2 CCACHE_NOHASHDIR=1 CCACHE_COMMENTS=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export CCACHE_BASEDIR CCACHE_NOHASHDIR CCACHE_COMMENTS CCACHE_SLOPPINESS
shift 2
for word; do
  case $word in *.gch) rm -f "$word" ;; esac
done
exec "$cache" "$@"
